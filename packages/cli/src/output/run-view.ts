import type { ClusterOptions } from '../command-options.ts';
import { type Shell, withCommandName } from '../shell.ts';
import { textStyleFor } from './terminal-text.ts';
import type { View, ViewDocument, ViewState } from './view.ts';

/** Runs a command that shows a view of a cluster. Modules are loaded on demand: loading is most of the start-up time. */
export const runView = <Document extends ViewDocument, State extends ViewState>(
  shell: Shell,
  name: string,
  options: ClusterOptions,
  load: () => Promise<View<Document, State>>,
): Promise<void> =>
  shell.run(name, async () => {
    const { stdout, env, signal, commandName } = shell;
    const [{ withCluster }, { showView }, view] = await Promise.all([
      import('../cluster/connection.ts'),
      import('./view.ts'),
      load(),
    ]);
    const screen = { stdout, style: textStyleFor(stdout, env, options.color) };
    const renamedView: View<Document, State> = {
      ...view,
      pageOf: (document) => {
        const { tables, lines } = view.pageOf(document);
        return { tables, lines: lines.map((line) => withCommandName(commandName, line)) };
      },
    };
    return withCluster(options, env, (cluster) =>
      showView(renamedView, { ...options, watch: options.watch === true }, cluster, screen, signal),
    );
  });
