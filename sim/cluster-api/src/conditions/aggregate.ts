import type { ConditionUpdate } from '@tartan/kube';
import { below } from './below.ts';
import { type Merge, mergeWith, type Part, type Weight, type Weighed } from './merge.ts';

/** One of the objects of a kind, with the condition that all of them have. */
export interface Reported extends Part {
  readonly name: string;
}

interface Message {
  readonly text: string;
  readonly weight: Weight;
  readonly names: readonly string[];
}

const weights: readonly Weight[] = ['issue', 'unknown', 'fine'];
const restOf = { issue: 'with other issues', unknown: 'with status unknown', fine: 'with additional info' } as const;
const shownMessages = 3;
const shownNames = 3;

const order = (a: Message, b: Message): number =>
  weights.indexOf(a.weight) - weights.indexOf(b.weight) ||
  b.names.length - a.names.length ||
  (a.names.join() < b.names.join() ? -1 : 1);

/** Who says the same says it together, at its worst. */
const messagesOf = (told: readonly Weighed<Reported>[]): Message[] =>
  [...Map.groupBy(told, ({ message }) => message)]
    .map(([text, parts]) => ({
      text,
      weight: weights.find((each) => parts.some(({ weight }) => weight === each)) ?? 'fine',
      names: parts.map(({ name }) => name).sort(),
    }))
    .sort(order);

const heading = (kind: string, names: readonly string[]): string => {
  const more = names.length - shownNames;
  const shown = names.slice(0, shownNames).join(', ');
  return `* ${kind}${names.length === 1 ? '' : 's'} ${shown}${more > 0 ? `, ... (${more} more)` : ''}:`;
};

const tell = (kind: string, told: readonly Weighed<Reported>[]): string => {
  const messages = messagesOf(told);
  const rest = messages.slice(shownMessages);
  const others = weights.flatMap((weight) => {
    const count = rest.reduce((sum, message) => sum + (message.weight === weight ? message.names.length : 0), 0);
    return count === 0 ? [] : [`And ${count} ${kind}${count === 1 ? '' : 's'} ${restOf[weight]}`];
  });
  return [
    ...messages.slice(0, shownMessages).map(({ text, names }) => `${heading(kind, names)}${below(text)}`),
    ...others,
  ].join('\n');
};

/** The same condition of several objects as one: what most of them say is told first, and not all of it. */
export const aggregateConditions = (kind: string, parts: readonly Reported[], merge: Merge): ConditionUpdate =>
  mergeWith(parts, merge, (told) => tell(kind, told));
