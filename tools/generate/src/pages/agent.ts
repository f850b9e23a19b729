import { flagGroups } from '@tartan/tart-kubelet/flags';
import { groupLines } from './flags.ts';
import { code, generated, row, table } from './markdown.ts';

/** The page about the agent: its flags and its files. */

const files: readonly [path: string, what: string][] = [
  ['/etc/tart-kubelet/kubeconfig', 'address of the cluster and the join token; written by the host steps'],
  ['/etc/tart-kubelet/node-certificate.pem', 'client certificate of the Node, with its key'],
  ['/etc/tart-kubelet/serving-certificate.pem', 'serving certificate of the kubelet API, with its key'],
  ['/var/lib/tart-kubelet/journal/UID.json', 'journal of a Pod: a restarted agent continues from it'],
  ['/var/lib/tart-kubelet/images/', 'golden bases and images that the agent created, and may delete'],
  ['/var/lib/tart-userdata/VM/', 'shared folders of a guest: [guest.md](../guest.md)'],
  [
    '/var/log/tart-vms/UID/CONTAINER/RUN.log',
    'output of `kubectl logs`; `.log.1` is the part before it, `.raw` the output of tart',
  ],
  ['~/.tart/vms/NAMESPACE-NAME-UID', 'the VM of a Pod; `tartan.json` in it marks it as created by the agent'],
];

export const agentPage = (): string =>
  [
    generated,
    '',
    '# The agent (tart-kubelet): flags and files',
    '',
    'The agent registers a Mac as a Node and runs its Pods as macOS VMs. It serves `kubectl logs`, `exec`, `attach`, `cp` and `port-forward`.',
    'VMs outlive the agent: when it stops or is updated, VMs keep running and the next agent takes them over.',
    '',
    'Why a Pod waits or how it ended: [conditions.md](conditions.md#pod). Events: [events.md](events.md#pod). Metrics: [metrics.md](metrics.md).',
    'The log is `/var/log/tart-kubelet.log` on the Mac.',
    'The host steps write the flags into the launchd job. `--help` prints the same table.',
    ...groupLines(flagGroups),
    '',
    '## Files',
    '',
    ...table(
      ['path', 'content'],
      files.map(([path, what]) => row(code(path), what)),
    ),
    '',
  ].join('\n');
