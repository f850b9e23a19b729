#!/usr/bin/env node
import { hostname } from 'node:os';
import { runAgent } from './program.ts';

/** The first signal asks for an orderly end; a second one is the hard way. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => asked.abort());

const { env, stdout, stderr } = process;
process.exitCode = await runAgent(process.argv.slice(2), {
  env,
  hostname: hostname(),
  // Node has resolved the links by which it came here: this is the release itself, whatever `current` names by now.
  folder: import.meta.dirname,
  stdout: (text) => stdout.write(text),
  stderr: (text) => stderr.write(text),
  signal: asked.signal,
});
