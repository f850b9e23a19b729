#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';

// To encrypt what is sent to Macs leaves three times its size behind as garbage, outside of the heap, which goes when the young generation
// is collected. One that stays as small as it begins is collected often, and costs no speed: the manager takes 160 MB while it rolls 16
// Macs at once, and 210 MB otherwise (`npm run bench -- roll-memory`). So it is set before anything else is loaded.
setFlagsFromString('--semi-space-growth-factor=1');

/** The first signal asks for an end that gives the lease back; a second one ends us the hard way. */
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());

const { env, stdout, stderr } = process;
const { runManager } = await import('./manager/program.ts');
process.exitCode = await runManager(process.argv.slice(2), {
  env,
  stdout: (text) => stdout.write(text),
  stderr: (text) => stderr.write(text),
  signal: stopping.signal,
});
// Work that was given up may still hold a socket: it must not keep alive a process that does not lead any more.
setTimeout(() => process.exit(), 500).unref();
