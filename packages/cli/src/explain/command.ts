import type { Command } from 'commander';
import { choiceOf, type ClusterOptions, selectionOf, withClusterOptions } from '../command-options.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import { type Shell, withCommandName } from '../shell.ts';

interface ExplainOptions extends ClusterOptions {
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
    .action((name: string, options: ExplainOptions) => shell.run('explain', () => runExplain(name, options, shell)));
};

const runExplain = async (name: string, options: ExplainOptions, shell: Shell): Promise<number> => {
  const { stdout, stderr, env, signal, commandName } = shell;
  const [{ withCluster }, { explain }, { explainLines }] = await Promise.all([
    import('../cluster/connection.ts'),
    import('./explain.ts'),
    import('./page.ts'),
  ]);
  const managerFlags = {
    defaultPoolPrefix: options.defaultAdoptPoolPrefix,
    claimNamePrefix: options.orphanReclaimClaimNamePrefix,
  };
  const explained = await withCluster(choiceOf(options), env, (cluster) =>
    explain(cluster, { ...selectionOf(options), name, told: managerFlags }, signal),
  );
  if (explained.kind === 'not found') {
    stderr.write(`${commandName} explain: ${withCommandName(commandName, explained.why)}\n`);
    return 1;
  }
  const columns = stdout.isTTY === true ? stdout.columns : undefined;
  const text =
    options.output === 'json'
      ? JSON.stringify(explained.document, null, 2)
      : withCommandName(
          commandName,
          explainLines(explained.document, textStyleFor(stdout, env, options.color), columns).join('\n'),
        );
  stdout.write(`${text}\n`);
  return 0;
};
