import type { Command } from 'commander';
import { type ClusterOptions, choiceOf, selectionOf, withClusterOptions } from '../cluster/options.ts';
import { inTheWordsOf, type Shell } from '../shell.ts';
import { lookOf } from '../show/look.ts';

interface Given extends ClusterOptions {
  readonly orphanReclaimClaimNamePrefix?: string;
  readonly defaultAdoptPoolPrefix?: string;
}

export const addExplainCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('explain'))
    .argument(
      '<name>',
      'a machine, MacHost, Node, Pod, MacFleet or RunnerPool; with its kind before it, if others have that name',
    )
    .description(
      'Say why a machine, Mac, Node, Pod, fleet or runner pool is as it is, what comes next, what you could do.',
    )
    .option('--default-adopt-pool-prefix <prefix>', 'what the manager was told, if it matters and cannot be seen')
    .option('--orphan-reclaim-claim-name-prefix <prefix>', 'the same')
    .addHelpText(
      'after',
      `
What is decided about it is found by the very functions that the manager decides with, fed with what is in the cluster. What the
manager knows beside that (Scaleway at this moment, SSH, its memory) is said to be missing, and its own word is shown: conditions,
each with what it means, and events. Nothing is changed.

A Mac may be named by its id, the beginning of it, or its name at Scaleway.

Examples:
  $ tartan explain mac-1
  $ tartan explain 48d7f3f6                                   a Mac, by the beginning of its id
  $ tartan explain pod/build-1 -n default
  $ tartan explain rpool/macos                                a pool of runners
  $ tartan explain fleet/macos -o json | jq -r .decision.text

Exit codes: 0 explained; 1 nothing has that name, or too many do; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action((name: string, options: Given) => shell.run('explain', () => tell(name, options, shell)));
};

const tell = async (name: string, options: Given, shell: Shell): Promise<number> => {
  const { stdout, stderr, env, signal, calledAs } = shell;
  const [{ withCluster }, { explain }, { explainLines }] = await Promise.all([
    import('../cluster/cluster.ts'),
    import('./explain.ts'),
    import('./page.ts'),
  ]);
  const told = {
    defaultPoolPrefix: options.defaultAdoptPoolPrefix,
    claimNamePrefix: options.orphanReclaimClaimNamePrefix,
  };
  const explained = await withCluster(choiceOf(options), env, (cluster) =>
    explain(cluster, { ...selectionOf(options), name, told }, signal),
  );
  if (explained.kind === 'not found') {
    stderr.write(`${calledAs} explain: ${inTheWordsOf(calledAs, explained.why)}\n`);
    return 1;
  }
  const columns = stdout.isTTY === true ? stdout.columns : undefined;
  const text =
    options.output === 'json'
      ? JSON.stringify(explained.document, null, 2)
      : inTheWordsOf(
          calledAs,
          explainLines(explained.document, lookOf(stdout, env, options.color), columns).join('\n'),
        );
  stdout.write(`${text}\n`);
  return 0;
};
