#!/usr/bin/env node
import { calledAs } from './called-as.ts';
import { tartan } from './program.ts';

/** The first signal asks for an end that cleans up; a second one ends us the hard way. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => asked.abort());

const { stdin, stdout, stderr, env } = process;
// Whoever reads us may have had enough, as head has: then there is nobody to talk to, and nothing to complain of.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    asked.abort();
  });
const around = { stdin, stdout, stderr, env, signal: asked.signal };
process.exitCode = await tartan(process.argv.slice(2), around, calledAs(process.argv[1] ?? ''));
