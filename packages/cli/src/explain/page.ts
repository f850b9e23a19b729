import { ageSince } from '../output/age.ts';
import { wrappedTableLines, wrapText } from '../output/table.ts';
import { paint, type TextStyle, type Tone } from '../output/terminal-text.ts';
import type { ExplainDocument } from './explanation.ts';

/** Wider paragraphs are hard to read. */
const maxWidth = 120;
const indent = '  ';

/** The text of an explanation: state, decision, facts, what happens next, what to do. */
export const explainLines = (document: ExplainDocument, style: TextStyle, columns: number | undefined): string[] => {
  const paper = { style, width: Math.min(columns ?? maxWidth, maxWidth), indent };
  const { decision, facts, next, remedies, unseen, conditions, notes, at } = document;
  const now = Date.parse(at);
  const section = (heading: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint(style, 'bold', heading), ...lines];
  const list = (heading: string, lines: readonly string[]): string[] =>
    section(
      heading,
      lines.flatMap((line) => wrapText(line, paper.width, indent)),
    );
  const relevant = conditions.filter(isRelevant);
  return [
    ...wrapText(document.where, paper.width).map((line) => paint(style, 'bold', line)),
    ...list('Decision', [decision.text]),
    ...section(
      'Facts',
      wrappedTableLines(
        facts.map(({ what, is }) => ({ columns: [{ text: what, tone: 'dim' }], text: is })),
        paper,
      ),
    ),
    ...list('Next', next),
    ...list('What you can do', remedies),
    ...list('Not visible', unseen),
    ...section(
      'Conditions',
      wrappedTableLines(
        relevant.map((condition, index) => conditionRow(condition, now, relevant.slice(0, index))),
        paper,
      ),
    ),
    ...section('Events', wrappedTableLines(eventRows(document, now), paper)),
    ...notes.flatMap((note) => ['', ...wrapText(note, paper.width)]),
  ];
};

type Condition = ExplainDocument['conditions'][number];

/** Conditions that are bad when True. */
const negativeConditions: ReadonlySet<string> = new Set([
  'Paused',
  'Deleting',
  'Stalled',
  'Stuck',
  'JobsWaiting',
  'Stranded',
  'Quarantined',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/** A bad condition that is False is not shown. */
const isRelevant = ({ type, status }: Condition): boolean => !negativeConditions.has(type) || status !== 'False';

const toneOf = ({ type, status }: Condition): Tone | undefined => {
  if (status === 'Unknown') return 'warn';
  return (status === 'True') === negativeConditions.has(type) ? 'bad' : 'good';
};

const textOf = ({ message, means }: Condition): string => (message === '' ? (means ?? '') : message);

const conditionRow = (condition: Condition, now: number, before: readonly Condition[]) => {
  const { type, status, reason, since } = condition;
  const text = textOf(condition);
  return {
    columns: [type, { text: status, tone: toneOf(condition) }, reason === type ? '' : reason, ageSince(since, now)],
    text: text !== '' && before.some((other) => textOf(other) === text) ? 'As above.' : text,
  };
};

const shortKinds: Readonly<Record<string, string>> = {
  ScalewayAppleSiliconMachine: 'machine',
  MacHost: 'host',
  MacFleet: 'fleet',
  RunnerPool: 'runnerpool',
  Pod: 'pod',
  Node: 'node',
};

const eventRows = ({ events, subject }: ExplainDocument, now: number) =>
  events.map(({ at, object, type, reason, message, count }) => {
    const [kind = '', name = ''] = object.split('/');
    const who = shortKinds[kind] ?? kind;
    const tone: Tone | undefined = type === 'Warning' ? 'warn' : undefined;
    return {
      columns: [ageSince(at, now), who === subject.kind && name === subject.name ? '' : who, { text: reason, tone }],
      text: count > 1 ? `${message} (${count} times)` : message,
    };
  });
