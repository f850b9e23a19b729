#!/usr/bin/env node
import { tartan } from './program.ts';

/** The first signal asks for an end that cleans up; a second one ends us the hard way. */
const asked = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => asked.abort());

const { stdin, stdout, stderr, env } = process;
process.exitCode = await tartan(process.argv.slice(2), { stdin, stdout, stderr, env, signal: asked.signal });
