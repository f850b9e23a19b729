import type { KubeObject } from '../object.ts';
import { nestedField, nestedNumber, nestedString, orElse } from '../unstructured.ts';
import { age, column, type Columns, wide } from './columns.ts';

const firstOf = (...candidates: string[]): string => candidates.find((candidate) => candidate !== '') ?? '';

/** Both event APIs show the same events; only the field names differ. */
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
  const kind = nestedString(event, names.object, 'kind').toLowerCase();
  const name = nestedString(event, names.object, 'name');
  return name === '' ? kind : `${kind}/${name}`;
};

const source = (event: KubeObject, names: Names): string => {
  const component = orElse(nestedString(event, names.source, 'component'), nestedString(event, names.component));
  const instance = orElse(nestedString(event, names.source, 'host'), nestedString(event, 'reportingInstance'));
  return instance === '' ? component : `${component}, ${instance}`;
};

const times = (event: KubeObject, names: Names): { first: string; last: string; total: number } => {
  const first = firstOf(nestedString(event, names.first), nestedString(event, 'eventTime'));
  if (nestedField(event, 'series') !== undefined) {
    return {
      first,
      last: nestedString(event, 'series', 'lastObservedTime'),
      total: nestedNumber(event, 'series', 'count'),
    };
  }
  return { first, last: firstOf(nestedString(event, names.last), first), total: nestedNumber(event, names.count) || 1 };
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
      nestedString(event, 'type'),
      nestedString(event, 'reason'),
      target(event, names),
      nestedString(event, names.object, 'fieldPath'),
      source(event, names),
      nestedString(event, names.message).trim(),
      age(first, now),
      total,
      event.metadata.name ?? '',
    ];
  },
});

export const coreEvents = eventColumns(core);
export const modernEvents = eventColumns(modern);
