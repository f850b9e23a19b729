import { type Fields, textOf } from '../../kinds/fields.ts';
import type { User } from '../user.ts';

/** A service account without a namespace lives in that of the binding. A ClusterRoleBinding has none to offer. */
const accountNamespace = (subject: Fields, bindingNamespace: string): string =>
  textOf(subject['namespace']) || bindingNamespace;

/** Whether a subject of a binding in that namespace ('' for a ClusterRoleBinding) means this user. */
export const meansUser = (subject: Fields, bindingNamespace: string, user: User): boolean => {
  const name = textOf(subject['name']);
  switch (subject['kind']) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const namespace = accountNamespace(subject, bindingNamespace);
      return namespace !== '' && user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
};

export const describeSubject = (subject: Fields, bindingNamespace: string): string => {
  const { kind } = subject;
  const name = textOf(subject['name']);
  const shown = kind === 'ServiceAccount' ? `${name}/${accountNamespace(subject, bindingNamespace)}` : name;
  return `${textOf(kind)} ${JSON.stringify(shown)}`;
};
