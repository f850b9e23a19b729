#!/usr/bin/env node
import { hostname } from 'node:os';
import { setFlagsFromString } from 'node:v8';

// The memory of a Mac is for its guests, and the agent waits nearly all of the time: what compilers win, their code and their data cost in
// memory. On Linux, a few Pods and a minute after its start, it took 73 MB with these and 86 MB without, and the last compiler was 2 MB
// more. They count from here on, so all else is loaded after them.
for (const flag of ['--optimize-for-size', '--no-opt', '--no-maglev', '--no-sparkplug', '--semi-space-growth-factor=1'])
  setFlagsFromString(flag);

/** The first signal asks for an orderly end; a second one is the hard way. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => asked.abort());

const { env, stdout, stderr } = process;
const { runAgent } = await import('./program.ts');
process.exitCode = await runAgent(process.argv.slice(2), {
  env,
  hostname: hostname(),
  // Node has resolved the links by which it came here: this is the release itself, whatever `current` names by now.
  folder: import.meta.dirname,
  writeStdout: (text) => stdout.write(text),
  writeStderr: (text) => stderr.write(text),
  signal: asked.signal,
});
