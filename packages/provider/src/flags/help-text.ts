import { helpText as textOf } from '@tartan/kube/flags';
import { flagGroups } from './flag-table.ts';
import { credentialVariables } from './parse-credentials.ts';

/** `--help`: the table, for a person at a terminal. */
export const helpText = (): string =>
  textOf({
    about: 'The Cluster API provider for Mac minis at Scaleway.',
    program: 'manager',
    table: { groups: flagGroups },
    variables: { title: 'Credentials, from the environment only', rows: credentialVariables },
  });
