#!/usr/bin/env node
import { tartan } from './program.ts';
import { commandNameOf } from './shell.ts';

/** The first signal asks for an end that cleans up; a second one ends us the hard way. */
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupt.abort());

const { stdin, stdout, stderr, env } = process;
// Whoever reads us may have had enough, as head has: then there is nobody to talk to, and nothing to complain of.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupt.abort();
  });
const context = { stdin, stdout, stderr, env, signal: interrupt.signal };
process.exitCode = await tartan(process.argv.slice(2), context, commandNameOf(process.argv[1] ?? ''));
