import { invalidObject } from '../../errors/api-error.ts';
import { type Cause, invalid, required } from '../../errors/field-errors.ts';
import { equal, type Json, type KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { fieldsOf, numberOf, textOf } from '../../unstructured.ts';
import { validateKindMetadataUpdate, validateMetadata, validateMetadataUpdate } from '../validation/metadata.ts';
import { byteLength, dnsSubdomain, qualifiedName } from '../validation/names.ts';

/** Field names of core/v1 and of events.k8s.io/v1. All others are the same in both. */
const renamed: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const rename = (object: KubeObject, apiVersion: string, names: ReadonlyMap<string, string>): KubeObject => ({
  ...(Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value])) as KubeObject),
  apiVersion,
});

const toCoreNames = new Map(renamed.map(([core, events]) => [events, core]));
const toEventsNames = new Map(renamed);

/** Both event APIs share one store, which holds core/v1 events. */
export const toCoreEvent = (event: KubeObject): KubeObject => {
  const core = rename(event, 'v1', toCoreNames);
  core['reportingComponent'] ??= '';
  core['reportingInstance'] ??= '';
  return core;
};

export const fromCoreEvent = (event: KubeObject): KubeObject => {
  const converted = rename(event, 'events.k8s.io/v1', toEventsNames);
  for (const field of ['reportingController', 'reportingInstance'])
    if (converted[field] === '') delete converted[field];
  return converted;
};

const coreEvents = { group: '', plural: 'events', kind: 'Event', namespaced: true };
const strictEvents = { group: 'events.k8s.io', plural: 'events', kind: 'Event', namespaced: true };

const involvedOf = (event: KubeObject): Record<string, unknown> => fieldsOf(event['involvedObject']);

const mismatch = (event: KubeObject): Cause =>
  invalid('involvedObject.namespace', textOf(involvedOf(event)['namespace']), 'does not match event.namespace');

const atMost = (event: KubeObject, field: string, maximum: number): Cause[] =>
  byteLength(textOf(event[field])) > maximum ? [invalid(field, '', `can have at most ${maximum} characters`)] : [];

const requiredText = (event: KubeObject, field: string): Cause[] =>
  textOf(event[field]) === '' ? [required(field)] : [];

/** Events of the newer API have a reporter and an event time. */
const validateTimed = (event: KubeObject, reporter: string): Cause[] => {
  const namespace = event.metadata.namespace ?? '';
  const controller = textOf(event['reportingComponent']);
  const homeless = textOf(involvedOf(event)['namespace']) === '' && !['default', 'kube-system'].includes(namespace);
  return [
    ...(homeless ? [mismatch(event)] : []),
    ...(controller === '' ? [required(reporter)] : []),
    ...qualifiedName(controller).map((text) => invalid(reporter, controller, text)),
    ...requiredText(event, 'reportingInstance'),
    ...atMost(event, 'reportingInstance', 128),
    ...requiredText(event, 'action'),
    ...atMost(event, 'action', 128),
    ...requiredText(event, 'reason'),
    ...atMost(event, 'reason', 128),
    ...atMost(event, 'message', 1024),
  ];
};

/** Validation for both APIs, of the stored form. */
const validateEvent = (event: KubeObject, reporter: string): Cause[] => {
  const namespace = event.metadata.namespace ?? '';
  const involved = textOf(involvedOf(event)['namespace']);
  const home = involved === '' ? ['', 'default'].includes(namespace) : involved === namespace;
  return [
    ...(event['eventTime'] ? validateTimed(event, reporter) : home ? [] : [mismatch(event)]),
    ...dnsSubdomain(namespace).map((text) => invalid('namespace', namespace, text)),
  ];
};

const validateSeries = (event: KubeObject): Cause[] => {
  if (event['series'] === undefined) return [];
  const series = fieldsOf(event['series']);
  return [
    ...(numberOf(series['count']) < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series['lastObservedTime'] ? [] : [required('series.lastObservedTime')]),
  ];
};

/** Additional validation of events.k8s.io for a new event. */
const validateStrict = (event: KubeObject): Cause[] => {
  const type = textOf(event['type']);
  const source = fieldsOf(event['source']);
  const unset = (field: string, given: boolean): Cause[] => (given ? [invalid(field, '', 'needs to be unset')] : []);
  return [
    ...validateSeries(event),
    ...(event['eventTime'] ? [] : [required('eventTime')]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', Boolean(event['firstTimestamp'])),
    ...unset('lastTimestamp', Boolean(event['lastTimestamp'])),
    ...unset('count', numberOf(event['count']) !== 0),
    ...unset(
      'source',
      Object.values(source).some((value) => textOf(value) !== ''),
    ),
  ];
};

/** A reference as the real server prints its internal type. */
const printedReference = (value: unknown): Json => {
  const reference = fieldsOf(value);
  const names = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  const inner = (name: string): string =>
    name === 'uid' ? 'UID' : name === 'apiVersion' ? 'APIVersion' : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return Object.fromEntries(names.map((name) => [inner(name), textOf(reference[name])]));
};

const printedField = (event: KubeObject, field: string): Json => {
  const value = event[field];
  if (field === 'involvedObject' || field === 'related') return value === undefined ? null : printedReference(value);
  if (field === 'source')
    return { Component: textOf(fieldsOf(value)['component']), Host: textOf(fieldsOf(value)['host']) };
  if (field === 'count') return numberOf(value);
  return typeof value === 'string' ? value : field.endsWith('Timestamp') || field === 'eventTime' ? null : '';
};

/** Stored field, and its name in errors. */
const fixed: readonly (readonly [string, string])[] = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  ['reportingComponent', 'reportingController'] as const,
  'reportingInstance',
].map((entry) => (typeof entry === 'string' ? [entry, entry] : entry));

/** Through events.k8s.io only the series of an event can change. */
const validateStrictUpdate = (event: KubeObject, old: KubeObject): Cause[] => [
  ...(equal(event['series'], old['series']) ? [] : validateSeries(event)),
  ...fixed.flatMap(([field, name]) =>
    equal(printedField(event, field), printedField(old, field))
      ? []
      : [invalid(name, printedField(event, field), 'field is immutable')],
  ),
];

const selectable = (event: KubeObject): Record<string, string> => {
  const involved = involvedOf(event);
  const reporter = textOf(event['reportingComponent']);
  return {
    ...Object.fromEntries(
      ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((field) => [
        `involvedObject.${field}`,
        textOf(involved[field]),
      ]),
    ),
    reason: textOf(event['reason']),
    reportingComponent: reporter,
    source: textOf(fieldsOf(event['source'])['component']) || reporter,
    type: textOf(event['type']),
  };
};

const plainEvent: Strategy = { ...plainStrategy, allowCreateOnUpdate: true };

export const coreEventStrategy: Strategy = {
  ...plainEvent,
  validate: (event) => validateEvent(event, 'reportingComponent'),
  selectableFields: selectable,
};

export const eventStrategy: Strategy = {
  ...plainEvent,
  validate: (given, before) => {
    const event = toCoreEvent(given);
    const old = before && toCoreEvent(before);
    const causes = [
      ...(old ? validateMetadataUpdate(event, old, coreEvents) : []),
      ...validateEvent(event, 'reportingController'),
      ...(old
        ? [...validateKindMetadataUpdate(event, old, coreEvents), ...validateStrictUpdate(event, old)]
        : [...validateMetadata(given, strictEvents), ...validateStrict(event)]),
    ];
    // The real server has one internal event type, which its errors name.
    if (causes.length > 0) throw invalidObject(coreEvents, event.metadata.name, causes);
    return [];
  },
  selectableFields: (event) => {
    const { reportingComponent, source: _, ...fields } = selectable(toCoreEvent(event));
    const names = Object.entries(fields).map(([key, value]) => [key.replace(/^involvedObject\./, 'regarding.'), value]);
    return { ...Object.fromEntries(names), reportingController: reportingComponent ?? '' };
  },
};
