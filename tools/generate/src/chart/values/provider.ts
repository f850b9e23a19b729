import { program } from './program.ts';
import { choice, group, text, texts } from './value.ts';

export const provider = group('The provider (the manager Deployment), which manages the Macs.', {
  image: group('Image of the provider. It also contains the runners controller and all software for Macs.', {
    repository: text('Repository of the image.', 'tartan', { minLength: 1 }),
    tag: text('Tag of the image. Empty: the app version of the chart.', ''),
    pullPolicy: choice('Image pull policy.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
    pullSecrets: texts('Names of pull secrets.', []),
  }),
  ...program({
    replicas: 2,
    // Less is not enough for a rollout; more points to a leak.
    memory: {
      why: 'Resources. The manager needs at most 160 MB while it updates 16 Macs at once (`npm run bench -- roll-memory`), and 180 MB in a cluster with 20,000 other Pods (`npm run bench -- foreign-pods`).',
      request: '192Mi',
      limit: '256Mi',
      most: '512Mi',
      pattern: '^(12[89]|1[3-9][0-9]|[234][0-9][0-9]|50[0-9]|51[0-2])Mi$',
    },
    flags: 'provider-flags.md',
    github: 'the runners of builders',
  }),
});
