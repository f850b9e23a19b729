import { type Environment, readFlags } from '@tartan/kube/flags';
import { flagGroups } from './flag-table.ts';
import { helpText } from './help-text.ts';
import { type ProviderOptions, providerOptions } from './provider-options.ts';
import { removedFlags } from './removed-flags.ts';
import { rules } from './rules.ts';

export type ParsedFlags =
  | { readonly options: ProviderOptions }
  | { readonly help: string }
  /** All of them at once: a chart is not mended one restart at a time. */
  | { readonly errors: readonly string[] };

/** What the manager was told to be, from its arguments (without the program's name) and its environment. Pure and total. */
export const parseFlags = (argv: readonly string[], env: Environment): ParsedFlags => {
  const parsed = readFlags({ groups: flagGroups, rules, removed: removedFlags }, argv, env);
  if ('wantsHelp' in parsed) return { help: helpText() };
  return 'read' in parsed ? { options: providerOptions(parsed.read) } : parsed;
};
