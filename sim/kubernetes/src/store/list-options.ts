import { badRequest, invalidObject } from '../errors/api-error.ts';
import { type Cause, forbidden, notSupported } from '../errors/field-errors.ts';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import { assertSelectable, matchesFields, parseFieldSelector } from '../selectors/field-selector.ts';
import { parseLabelSelector } from '../selectors/label-selector.ts';

/** The query of a list or watch, parsed and validated. */
export interface ListOptions {
  limit: number;
  continueToken: string;
  resourceVersion: string;
  resourceVersionMatch: string;
  sendInitialEvents: boolean | undefined;
  allowWatchBookmarks: boolean;
  timeoutSeconds: number | undefined;
  hasSelector: boolean;
  matches(object: KubeObject): boolean;
}

const subject = { group: 'meta.k8s.io', plural: 'listoptions', kind: 'ListOptions' };

const flag = (query: URLSearchParams, name: string): boolean | undefined => {
  const value = query.get(name);
  if (value === null) return undefined;
  return !['false', '0', 'f', 'F', 'False', 'FALSE'].includes(value);
};

const integer = (query: URLSearchParams, name: string): number | undefined => {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^-?\d+$/.test(value)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  }
  return Number(value);
};

const listCauses = (options: ListOptions): Cause[] => {
  const { resourceVersionMatch: match, resourceVersion, continueToken } = options;
  const field = 'resourceVersionMatch';
  const causes: Cause[] = [];
  if (match !== '') {
    if (resourceVersion === '') {
      causes.push(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if (continueToken !== '') {
      causes.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (!['Exact', 'NotOlderThan'].includes(match)) {
      causes.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && resourceVersion === '0') {
      causes.push(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    causes.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return causes;
};

const watchCauses = (options: ListOptions): Cause[] => {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const field = 'resourceVersionMatch';
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    causes.push(forbidden(field, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      causes.push(forbidden(field, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
    }
    if (match !== 'NotOlderThan') causes.push(notSupported(field, match, ['NotOlderThan']));
    if (options.continueToken !== '') {
      causes.push(forbidden(field, 'resourceVersionMatch is forbidden when continue is provided'));
    }
  }
  return causes;
};

const selectorOf = (query: URLSearchParams, resource: Resource): Pick<ListOptions, 'hasSelector' | 'matches'> => {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  const labels = parseLabelSelector(labelText);
  const requirements = parseFieldSelector(fieldText);
  const known = {
    'metadata.name': '',
    ...(resource.custom && !resource.namespaced ? {} : { 'metadata.namespace': '' }),
  };
  if (requirements.length > 0) {
    const sample: KubeObject = { ...emptyObject(resource) };
    assertSelectable(
      requirements,
      { ...known, ...resource.strategy.selectableFields(sample) },
      apiVersionOf(resource),
      resource.kind,
    );
  }
  return {
    hasSelector: labelText !== '' || fieldText !== '',
    matches: (object) =>
      labels(object.metadata.labels) &&
      (requirements.length === 0 ||
        matchesFields(requirements, {
          'metadata.name': object.metadata.name,
          'metadata.namespace': object.metadata.namespace ?? '',
          ...resource.strategy.selectableFields(object),
        })),
  };
};

const emptyObject = (resource: Resource): KubeObject => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '' },
});

export const parseListOptions = (query: URLSearchParams, resource: Resource, watch: boolean): ListOptions => {
  const options: ListOptions = {
    limit: integer(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    sendInitialEvents: flag(query, 'sendInitialEvents'),
    allowWatchBookmarks: flag(query, 'allowWatchBookmarks') ?? false,
    timeoutSeconds: integer(query, 'timeoutSeconds'),
    ...selectorOf(query, resource),
  };
  const causes = watch ? watchCauses(options) : listCauses(options);
  if (causes.length > 0) throw invalidObject(subject, '', causes);
  if (options.resourceVersion !== '' && !/^\d+$/.test(options.resourceVersion)) {
    const shown = JSON.stringify(options.resourceVersion);
    throw badRequest(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: invalid syntax`);
  }
  if (options.continueToken !== '' && !['', '0'].includes(options.resourceVersion)) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return options;
};
