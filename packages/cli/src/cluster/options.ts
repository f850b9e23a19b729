import { type Command, Option } from 'commander';
import type { Selection } from '../world/observe.ts';
import type { ClusterChoice } from './cluster.ts';

/** What every command that looks at a cluster is told. */
export interface ClusterOptions extends ClusterChoice {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly output: 'table' | 'json';
  readonly watch?: boolean;
  readonly color: boolean;
}

export const withClusterOptions = (
  command: Command,
  { watch = false, namespaces = true }: { readonly watch?: boolean; readonly namespaces?: boolean } = {},
): Command => {
  if (namespaces)
    command
      .option('-n, --namespace <name>', 'machines, fleets and Pods of this namespace only')
      .addOption(new Option('-A, --all-namespaces', 'of all namespaces, as without -n').conflicts('namespace'));
  command.addOption(new Option('-o, --output <form>', 'how to print it').choices(['table', 'json']).default('table'));
  if (watch) command.option('-w, --watch', 'go on and show what changes, until Ctrl-C');
  return command
    .option('--kubeconfig <file>', 'which cluster (default: as kubectl, from KUBECONFIG or ~/.kube/config)')
    .option('--context <name>', 'a context of the kubeconfig other than the current one')
    .option('--no-color', 'no colours, also on a terminal (so do NO_COLOR and FORCE_COLOR=0)');
};

/** Options that were not given are left out, not undefined. */
export const choiceOf = ({ kubeconfig, context }: ClusterChoice): ClusterChoice => ({
  ...(kubeconfig !== undefined && { kubeconfig }),
  ...(context !== undefined && { context }),
});

export const selectionOf = ({ namespace }: Pick<ClusterOptions, 'namespace'>): Selection => ({
  ...(namespace !== undefined && { namespace }),
});
