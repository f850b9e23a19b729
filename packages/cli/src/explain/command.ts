import type { Command } from 'commander';
import { type ManagerFlagOptions, withClusterOptions } from '../command-options.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import { type Shell, withCommandName } from '../shell.ts';

export const addExplainCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('explain'))
    .argument('<name>', 'a machine, MacHost, Node, Pod, MacFleet or RunnerPool; KIND/NAME if the name is ambiguous')
    .description(
      'Explain the state of a machine, Mac, Node, Pod, fleet or runner pool: the reason, what happens next, what you can do.',
    )
    .option('--default-adopt-pool-prefix <prefix>', 'the flag of the manager, if the command asks for it')
    .option('--orphan-reclaim-claim-name-prefix <prefix>', 'the flag of the manager, if the command asks for it')
    .addHelpText(
      'after',
      `
The command runs the decision functions of the manager on the objects in the cluster. It lists what only the manager knows (the
current answer of Scaleway, SSH, its memory) as not visible. It also shows the conditions, with their meaning, and the events. The
command changes nothing.

A Mac can be named by its id, the beginning of its id, or its name at Scaleway.

Examples:
  $ tartan explain mac-1
  $ tartan explain 48d7f3f6                                   a Mac, by the beginning of its id
  $ tartan explain pod/build-1 -n default
  $ tartan explain rpool/macos                                a runner pool
  $ tartan explain fleet/macos -o json | jq -r .decision.text

Exit codes: 0 explained; 1 no object has that name, or several have; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((name: string, options: ManagerFlagOptions) =>
      shell.run('explain', () => runExplain(name, options, shell)),
    );
};

const runExplain = async (name: string, options: ManagerFlagOptions, shell: Shell): Promise<number> => {
  const { stdout, env, signal, commandName } = shell;
  const [{ withCluster }, { explain }, { explainLines }, { widthOf, writeOutput }] = await Promise.all([
    import('../cluster/connection.ts'),
    import('./explain.ts'),
    import('./page.ts'),
    import('../output/view.ts'),
  ]);
  const managerFlags = {
    defaultPoolPrefix: options.defaultAdoptPoolPrefix,
    claimNamePrefix: options.orphanReclaimClaimNamePrefix,
  };
  const document = await withCluster(options, env, (cluster) =>
    explain(cluster, { ...options, name, managerFlags }, signal),
  );
  const style = textStyleFor(stdout, env, options.color);
  writeOutput({ stdout }, options.output, document, () =>
    explainLines(document, style, widthOf({ stdout })).map((line) => withCommandName(commandName, line)),
  );
  return 0;
};
