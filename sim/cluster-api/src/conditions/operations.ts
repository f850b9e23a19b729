import { type Condition, type ConditionStatus, type ConditionUpdate, setCondition } from '@tartan/kube';
import { conditionOf } from '../external/contract.ts';
import type { External } from '../external/object-tracker.ts';

interface ObservedAt {
  readonly now: number;
  /** Of the object with the conditions. */
  readonly generation: number | undefined;
}

/** Sets these conditions; others stay. */
export const setConditions = (
  before: readonly Condition[] | undefined,
  updates: readonly ConditionUpdate[],
  { now, generation }: ObservedAt,
): readonly Condition[] =>
  updates.reduce<readonly Condition[]>(
    (all, update) =>
      setCondition(all, { ...update, ...(generation !== undefined && { observedGeneration: generation }) }, now),
    before ?? [],
  );

const bullet = /\s*\*\s+/;

/**
 * The text after a heading: a single plain line beside it, anything else below it and indented. If only some lines are list items, the
 * others become list items, and the list items become their children.
 */
export const indentedBelow = (text: string): string => {
  const lines = text.split('\n');
  if (lines.length === 1 && !bullet.test(text)) return ` ${text}`;
  const isList = lines.every((line) => bullet.test(line));
  const indented = (line: string): string => {
    if (isList) return `  ${line}`;
    return bullet.test(line) ? `    ${line}` : `  * ${line}`;
  };
  return `\n${lines.map(indented).join('\n')}`;
};

/** The severity of a condition for the merged condition. */
type MergePriority = 'issue' | 'unknown' | 'info';

/** A condition to merge. */
export interface SourceCondition extends Pick<Condition, 'type' | 'status' | 'reason' | 'message'> {
  /** Its name in messages. Default: its type. */
  label?: string;
  /** Overrides the priority of its status. */
  priority?: MergePriority;
}

interface MergeOptions {
  /** Of the merged condition. */
  type: string;
  reasons: Readonly<Record<MergePriority, string>>;
  /** Types for which True is bad. */
  negative?: readonly string[];
  /** Whether True is bad for the merged condition. */
  targetIsNegative?: boolean;
}

type Prioritized<P extends SourceCondition> = P & { readonly priority: MergePriority };

const priorityOf = ({ type, status, priority }: SourceCondition, negative: readonly string[]): MergePriority => {
  if (priority !== undefined) return priority;
  if (status === 'Unknown') return 'unknown';
  return (status === 'True') === negative.includes(type) ? 'issue' : 'info';
};

const statusOf = (worst: MergePriority, targetIsNegative: boolean): ConditionStatus => {
  if (worst === 'unknown') return 'Unknown';
  return (worst === 'info') === targetIsNegative ? 'False' : 'True';
};

/** The worst priority decides, and the message lists all conditions that are not `info`. */
const mergeWith = <P extends SourceCondition>(
  parts: readonly P[],
  { type, reasons, negative = [], targetIsNegative = false }: MergeOptions,
  printMessage: (reported: readonly Prioritized<P>[]) => string,
): ConditionUpdate => {
  const weighed = parts.map((part) => ({ ...part, priority: priorityOf(part, negative) }));
  const worst =
    (['issue', 'unknown'] as const).find((each) => weighed.some(({ priority }) => priority === each)) ?? 'info';
  const shown = weighed.filter(({ priority, message }) => priority !== 'info' || (worst === 'info' && message !== ''));
  return { type, status: statusOf(worst, targetIsNegative), reason: reasons[worst], message: printMessage(shown) };
};

const line = ({ label, type, message, reason }: SourceCondition): string =>
  `* ${label ?? type}:${indentedBelow(message || reason)}`;

/** Merges several conditions of one object. */
export const summaryCondition = (parts: readonly SourceCondition[], merge: MergeOptions): ConditionUpdate =>
  mergeWith(parts, merge, (shown) => shown.map(line).join('\n'));

/** The condition of this type, or an Unknown one if it is missing. */
export const sourceCondition = (conditions: readonly Condition[] | undefined, type: string): SourceCondition =>
  conditions?.find((condition) => condition.type === type) ?? {
    type,
    status: 'Unknown',
    reason: 'NotYetReported',
    message: `Condition ${type} not yet reported`,
  };

/** The condition of one of several objects of a kind. */
export interface ObjectCondition extends SourceCondition {
  readonly name: string;
}

interface Message {
  readonly text: string;
  readonly priority: MergePriority;
  readonly names: readonly string[];
}

const priorities: readonly MergePriority[] = ['issue', 'unknown', 'info'];
const restOf = { issue: 'with other issues', unknown: 'with status unknown', info: 'with additional info' } as const;
const shownMessages = 3;
const shownNames = 3;

const order = (a: Message, b: Message): number =>
  priorities.indexOf(a.priority) - priorities.indexOf(b.priority) ||
  b.names.length - a.names.length ||
  (a.names.join() < b.names.join() ? -1 : 1);

/** Groups equal messages, with their worst priority. */
const messagesOf = (shown: readonly Prioritized<ObjectCondition>[]): Message[] =>
  [...Map.groupBy(shown, ({ message }) => message)]
    .map(([text, parts]) => ({
      text,
      priority: priorities.find((each) => parts.some(({ priority }) => priority === each)) ?? 'info',
      names: parts.map(({ name }) => name).sort(),
    }))
    .sort(order);

const heading = (kind: string, names: readonly string[]): string => {
  const more = names.length - shownNames;
  const shown = names.slice(0, shownNames).join(', ');
  return `* ${kind}${names.length === 1 ? '' : 's'} ${shown}${more > 0 ? `, ... (${more} more)` : ''}:`;
};

const aggregateMessage = (kind: string, shown: readonly Prioritized<ObjectCondition>[]): string => {
  const messages = messagesOf(shown);
  const rest = messages.slice(shownMessages);
  const others = priorities.flatMap((weight) => {
    const count = rest.reduce((sum, message) => sum + (message.priority === weight ? message.names.length : 0), 0);
    return count === 0 ? [] : [`And ${count} ${kind}${count === 1 ? '' : 's'} ${restOf[weight]}`];
  });
  return [
    ...messages.slice(0, shownMessages).map(({ text, names }) => `${heading(kind, names)}${indentedBelow(text)}`),
    ...others,
  ].join('\n');
};

/** Merges the same condition of several objects: the most frequent messages first, and not all of them. */
export const aggregateCondition = (
  kind: string,
  parts: readonly ObjectCondition[],
  merge: MergeOptions,
): ConditionUpdate => mergeWith(parts, merge, (shown) => aggregateMessage(kind, shown));

interface Mirrored {
  /** Its type on the object that it is copied to. */
  readonly type: string;
  /** Its type on the provider's object. */
  readonly from: 'Ready' | 'Available';
  readonly external: External;
  /** The earlier conclusion of core, which is never revoked. */
  readonly done: boolean;
  readonly deleting: boolean;
  /** The name of the object that still exists, for the message. */
  readonly owner: string;
  /** The field that a provider without conditions sets. */
  readonly field: string;
}

/** Mirrors a condition of a provider's object. Without that condition or object: what core itself knows. */
export const mirrorCondition = (mirrored: Mirrored): ConditionUpdate => {
  const { type, from, external, done, deleting, owner, field } = mirrored;
  const { kind } = external.ref;
  if (!external.object) {
    if (!done) return { type, status: 'False', reason: 'ObjectDoesNotExist', message: `${kind} does not exist` };
    const still = deleting ? '' : ` while the ${owner} still exists`;
    return { type, status: 'False', reason: 'ObjectDeleted', message: `${kind} has been deleted${still}` };
  }
  const theirs = conditionOf(external.object, from);
  if (theirs) {
    const { status, reason, message } = theirs;
    return { type, status, reason: reason || 'NoReasonReported', message };
  }
  return done
    ? { type, status: 'True', reason: from }
    : { type, status: 'False', reason: `Not${from}`, message: `${kind} ${field} is false` };
};
