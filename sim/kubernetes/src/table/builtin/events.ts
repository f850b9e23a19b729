import { age, column, type Columns, wide } from '../columns.ts';
import { at, count, or, text } from '../fields.ts';
import type { KubeObject } from '../../object.ts';

const firstOf = (...candidates: string[]): string => candidates.find((candidate) => candidate !== '') ?? '';

/** Both event APIs show one and the same event; only their fields are named differently. */
interface Names {
  object: string;
  message: string;
  first: string;
  last: string;
  count: string;
  source: string;
  component: string;
}

const core: Names = {
  object: 'involvedObject',
  message: 'message',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  count: 'count',
  source: 'source',
  component: 'reportingComponent',
};

const modern: Names = {
  object: 'regarding',
  message: 'note',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
  source: 'deprecatedSource',
  component: 'reportingController',
};

const target = (event: KubeObject, names: Names): string => {
  const kind = text(event, names.object, 'kind').toLowerCase();
  const name = text(event, names.object, 'name');
  return name === '' ? kind : `${kind}/${name}`;
};

const source = (event: KubeObject, names: Names): string => {
  const component = or(text(event, names.source, 'component'), text(event, names.component));
  const instance = or(text(event, names.source, 'host'), text(event, 'reportingInstance'));
  return instance === '' ? component : `${component}, ${instance}`;
};

const times = (event: KubeObject, names: Names): { first: string; last: string; total: number } => {
  const first = firstOf(text(event, names.first), text(event, 'eventTime'));
  if (at(event, 'series') !== undefined) {
    return { first, last: text(event, 'series', 'lastObservedTime'), total: count(event, 'series', 'count') };
  }
  return { first, last: firstOf(text(event, names.last), first), total: count(event, names.count) || 1 };
};

const eventColumns = (names: Names): Columns => ({
  definitions: [
    column('Last Seen'),
    column('Type'),
    column('Reason'),
    column('Object'),
    wide('Subobject'),
    wide('Source'),
    column('Message'),
    wide('First Seen'),
    wide('Count'),
    column('Name', 'string', 1, 'name'),
  ],
  cells: (event, now) => {
    const { first, last, total } = times(event, names);
    return [
      age(last, now),
      text(event, 'type'),
      text(event, 'reason'),
      target(event, names),
      text(event, names.object, 'fieldPath'),
      source(event, names),
      text(event, names.message).trim(),
      age(first, now),
      total,
      event.metadata.name ?? '',
    ];
  },
});

export const coreEvents = eventColumns(core);
export const modernEvents = eventColumns(modern);
