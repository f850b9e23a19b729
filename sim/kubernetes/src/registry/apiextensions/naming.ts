import { equal } from '../../object.ts';
import { type Condition, type Definition, type DefinitionNames, withCondition } from './definition.ts';

/** Whether the names of a definition are free in its group. It keeps names that were accepted before. */

interface Naming {
  accepted: DefinitionNames;
  condition: Condition;
}

const resourceNames = ({ plural, singular, shortNames }: DefinitionNames): string[] => [
  plural,
  singular ?? '',
  ...(shortNames ?? []),
];
const kindNames = ({ kind, listKind }: DefinitionNames): string[] => [kind, listKind ?? ''];

const acceptedBy = (definitions: readonly Definition[], names: (names: DefinitionNames) => string[]): Set<string> =>
  new Set(definitions.flatMap(({ status }) => (status?.acceptedNames ? names(status.acceptedNames) : [])));

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

/** Joins messages as Go does. */
const joined = (messages: readonly string[]): string =>
  messages.length === 1 ? (messages[0] ?? '') : `[${messages.join(', ')}]`;

const namingOf = (definition: Definition, others: readonly Definition[], now: string): Naming => {
  const wanted = definition.spec.names;
  const own: DefinitionNames = definition.status?.acceptedNames ?? { plural: '', kind: '' };
  const resources = acceptedBy(others, resourceNames);
  const kinds = acceptedBy(others, kindNames);
  const conflicts: { reason: string; message: string }[] = [];
  const pick = (name: string, mine: string, taken: Set<string>, reason: string): string => {
    if (name === mine || !taken.has(name)) return name;
    conflicts.push({ reason, message: inUse(name) });
    return mine;
  };
  const plural = pick(wanted.plural, own.plural, resources, 'PluralConflict');
  const singular = pick(wanted.singular ?? '', own.singular ?? '', resources, 'SingularConflict');
  const short = wanted.shortNames ?? [];
  const taken = short.filter((name) => !(own.shortNames ?? []).includes(name) && resources.has(name));
  if (taken.length > 0) conflicts.push({ reason: 'ShortNamesConflict', message: joined(taken.map(inUse)) });
  const shortNames = taken.length > 0 ? (own.shortNames ?? []) : short;
  const kind = pick(wanted.kind, own.kind, kinds, 'KindConflict');
  const listKind = pick(wanted.listKind ?? '', own.listKind ?? '', kinds, 'ListKindConflict');
  const last = conflicts.at(-1);
  return {
    accepted: {
      plural,
      ...(singular === '' ? {} : { singular }),
      ...(shortNames.length > 0 ? { shortNames } : {}),
      kind,
      ...(listKind === '' ? {} : { listKind }),
      ...(wanted.categories && wanted.categories.length > 0 ? { categories: wanted.categories } : {}),
    },
    condition: {
      type: 'NamesAccepted',
      status: last ? 'False' : 'True',
      lastTransitionTime: now,
      reason: last?.reason ?? 'NoConflicts',
      message: last?.message ?? 'no conflicts found',
    },
  };
};

const established = (names: Condition, before: Condition | undefined, now: string): Condition => {
  if (before?.status === 'True') return before;
  const accepted = names.status === 'True';
  return {
    type: 'Established',
    status: accepted ? 'True' : 'False',
    lastTransitionTime: now,
    reason: accepted ? 'InitialNamesAccepted' : 'NotAccepted',
    message: accepted ? 'the initial names have been accepted' : 'not all names are accepted',
  };
};

/** The status of a definition after the check of its names. `others` are the definitions of the same group. */
export const establish = (
  definition: Definition,
  others: readonly Definition[],
  now: string,
): NonNullable<Definition['status']> => {
  const status = definition.status ?? {};
  if (status.acceptedNames && equal(status.acceptedNames, definition.spec.names)) return status;
  const { accepted, condition } = namingOf(definition, others, now);
  const conditions = status.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'Established');
  return {
    ...status,
    conditions: withCondition(withCondition(conditions, condition), established(condition, before, now)),
    acceptedNames: accepted,
  };
};
