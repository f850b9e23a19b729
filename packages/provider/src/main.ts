#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// To encrypt what is sent to Macs leaves three times its size behind as garbage, outside of the heap, which goes when the young generation
// is collected. One that stays as small as it begins is collected often, and costs no speed: the manager takes 160 MB while it rolls 16
// Macs at once, and 210 MB otherwise (`npm run bench -- roll-memory`). So it is set before anything else is loaded.
setFlagsFromString('--semi-space-growth-factor=1');

const { runAsProcess } = await import('@tartan/kube');
const { runManager } = await import('./manager/program.ts');
await runAsProcess(runManager);
