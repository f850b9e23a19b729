#!/usr/bin/env node
import { tartan } from './program.ts';
import { commandNameOf } from './shell.ts';

/** The first signal stops the command, which cleans up; a second one kills the process. */
const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupt.abort());

const { stdin, stdout, stderr, env } = process;
// A reader such as head may close the pipe early: stop without an error.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    interrupt.abort();
  });
const context = { stdin, stdout, stderr, env, signal: interrupt.signal };
process.exitCode = await tartan(process.argv.slice(2), context, commandNameOf(process.argv[1] ?? ''));
