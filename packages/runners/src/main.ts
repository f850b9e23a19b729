#!/usr/bin/env node
import { runAsProcess } from '@tartan/kube';
import { runRunners } from './program.ts';

await runAsProcess(runRunners);
