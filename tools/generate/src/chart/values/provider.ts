import { program } from './program.ts';
import { choice, group, text, texts } from './value.ts';

export const provider = group('The manager: the process that looks after the Macs.', {
  image: group('Its image, which also brings the runners controller and all that is put on Macs.', {
    repository: text('Where it is.', 'tartan', { minLength: 1 }),
    tag: text('Which one. Empty: the version of the application that the chart belongs to.', ''),
    pullPolicy: choice('When to pull it.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
    pullSecrets: texts('Names of Secrets to pull it with.', []),
  }),
  ...program({
    replicas: 2,
    // Less does not carry a roll, and whoever needs more has met a leak.
    memory: {
      why: 'What a manager needs. It takes 160 MB at most while it rolls 16 Macs at once (`npm run bench -- roll-memory`), and 180 MB beside 20,000 Pods of others (`npm run bench -- foreign-pods`).',
      request: '192Mi',
      limit: '256Mi',
      most: '512Mi',
      pattern: '^(12[89]|1[3-9][0-9]|[234][0-9][0-9]|50[0-9]|51[0-2])Mi$',
    },
    flags: 'provider-flags.md',
    github: 'the runners of builders',
  }),
});
