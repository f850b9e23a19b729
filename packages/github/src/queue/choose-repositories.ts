import type { Repository } from '../wire/answers.ts';

/** Two calls each, which cost nothing where nothing has changed. */
export const mostRepositories = 30;

/** Where to look for the jobs of an organisation: where somebody has pushed last, since that is what starts workflows. */
export const chooseRepositories = (all: readonly Repository[], organization: string): readonly string[] =>
  all
    .filter(({ full_name: name, archived, disabled }) => {
      const isOurs = name.toLowerCase().startsWith(`${organization.toLowerCase()}/`);
      return isOurs && archived !== true && disabled !== true;
    })
    .sort((one, other) => Date.parse(other.pushed_at ?? '1970-01-01') - Date.parse(one.pushed_at ?? '1970-01-01'))
    .slice(0, mostRepositories)
    .map(({ full_name: name }) => name);
