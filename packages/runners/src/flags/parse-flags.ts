import { type Environment, helpText, readFlags } from '@tartan/kube/flags';
import { flagGroups } from './flag-table.ts';
import { rules } from './rules.ts';
import { type RunnersOptions, runnersOptions } from './runners-options.ts';

export type ParsedFlags =
  | { readonly options: RunnersOptions }
  | { readonly help: string }
  /** All of them at once. */
  | { readonly errors: readonly string[] };

const table = { groups: flagGroups, rules };

/** What the controller was told to be, from its arguments (without the program's name) and its environment. Pure and total. */
export const parseFlags = (argv: readonly string[], env: Environment): ParsedFlags => {
  const parsed = readFlags(table, argv, env);
  if ('wantsHelp' in parsed)
    return {
      help: helpText({
        about: 'The controller of GitHub Actions runners: keeps the Pods of RunnerPools.',
        program: 'runners',
        table,
      }),
    };
  return 'read' in parsed ? { options: runnersOptions(parsed.read) } : parsed;
};
