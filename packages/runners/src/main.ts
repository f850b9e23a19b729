#!/usr/bin/env node
import { runRunners } from './program.ts';

/** The first signal asks for an end that gives the lease back; a second one ends us the hard way. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => asked.abort());

const { env, stdout, stderr } = process;
process.exitCode = await runRunners(process.argv.slice(2), {
  env,
  stdout: (text) => stdout.write(text),
  stderr: (text) => stderr.write(text),
  signal: asked.signal,
});
// Work that was given up may still hold a socket: it must not keep alive a process that does not lead any more.
setTimeout(() => process.exit(), 500).unref();
