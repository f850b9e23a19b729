#!/usr/bin/env node
import { hostname } from 'node:os';
import { runAgent } from './program.ts';

/** The first signal stops gracefully; a second one kills. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => asked.abort());

const { env, stdout, stderr } = process;
process.exitCode = await runAgent(process.argv.slice(2), {
  env,
  hostname: hostname(),
  // Node has resolved the symlinks: this is the folder of the running release, whatever `current` points to by now.
  folder: import.meta.dirname,
  stdout: (text) => stdout.write(text),
  stderr: (text) => stderr.write(text),
  signal: asked.signal,
});
