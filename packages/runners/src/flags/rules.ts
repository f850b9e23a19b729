import { managerRules, type Rule } from '@tartan/kube/flags';
import { flags } from './flag-table.ts';

export const rules: readonly Rule[] = [
  {
    says: '`--namespace` must be told, as Pods are made and deleted there.',
    reads: [flags.namespace],
    problem: (read) =>
      read(flags.namespace) === undefined
        ? '--namespace is not set, and nobody can guess whose RunnerPools are meant. Set it, or POD_NAMESPACE.'
        : undefined,
  },
  ...managerRules(flags),
];
