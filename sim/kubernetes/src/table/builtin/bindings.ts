import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from '../columns.ts';
import { type Fields, list, text } from '../fields.ts';

const subjects = (binding: unknown, kind: string, shown: (subject: Fields) => string): string =>
  list(binding, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map(shown)
    .join(', ');

const named = (subject: Fields): string => text(subject, 'name');
const namespaced = (subject: Fields): string => `${text(subject, 'namespace')}/${text(subject, 'name')}`;

/** Of roles and of cluster roles alike. */
export const bindings: Columns = {
  definitions: [nameColumn, column('Role'), ageColumn, wide('Users'), wide('Groups'), wide('ServiceAccounts')],
  cells: (binding, now) => [
    nameOf(binding),
    `${text(binding, 'roleRef', 'kind')}/${text(binding, 'roleRef', 'name')}`,
    ageOf(binding, now),
    subjects(binding, 'User', named),
    subjects(binding, 'Group', named),
    subjects(binding, 'ServiceAccount', namespaced),
  ],
};
