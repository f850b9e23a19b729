import { readFileSync } from 'node:fs';

const parts = ['common', 'storage', 'list', 'pull', 'clone', 'boot', 'run', 'stop', 'guest', 'main'] as const;

/**
 * A stand-in for `tart`, as one executable: POSIX sh, because a call must cost milliseconds and a running virtual machine next to
 * nothing. It behaves as tart 2.32.1 does.
 */
export const fakeTart = (version: string): string =>
  [
    '#!/bin/sh\n# Stands in for tart. INC: docs/incidents.md.\n',
    `version='${version}'\n`,
    ...parts.map((part) => readFileSync(new URL(`script/${part}.sh`, import.meta.url), 'utf8')),
  ].join('\n');
