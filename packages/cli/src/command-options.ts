import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterChoice } from './cluster/connection.ts';

export const parsePort = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 0 (any free one) to 65535.');
  }
  return value;
};

export const integerBetween =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`it is a whole number from ${min} to ${max}.`);
  };

/** Options of every command that reads a cluster. */
export interface ClusterOptions extends ClusterChoice {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output: 'table' | 'json';
  readonly watch?: boolean;
  readonly color: boolean;
}

/** With flags of the manager, which are not visible in the cluster. */
export interface ManagerFlagOptions extends ClusterOptions {
  readonly orphanReclaimClaimNamePrefix?: string;
  readonly defaultAdoptPoolPrefix?: string;
}

export const withClusterOptions = (
  command: Command,
  { watch = false, namespaces = true }: { readonly watch?: boolean; readonly namespaces?: boolean } = {},
): Command => {
  if (namespaces)
    command
      .option('-n, --namespace <name>', 'only machines, fleets and Pods of this namespace')
      .addOption(new Option('-A, --all-namespaces', 'all namespaces (the default)').conflicts('namespace'));
  command.addOption(new Option('-o, --output <form>', 'output format').choices(['table', 'json']).default('table'));
  if (watch) command.option('-w, --watch', 'watch for changes until Ctrl-C');
  return command
    .option('--kubeconfig <file>', 'kubeconfig file (default: as kubectl, from KUBECONFIG or ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .option('--no-color', 'no colours (like NO_COLOR and FORCE_COLOR=0)');
};
