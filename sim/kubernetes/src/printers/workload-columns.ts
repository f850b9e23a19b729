import { isObject } from '../object.ts';
import { printLabelSelector } from '../selectors/label-requirement.ts';
import { type LabelSelector, requirementsOf } from '../selectors/label-selector.ts';
import { nestedField, nestedMap, nestedMaps, nestedNumber, nestedString, orElse } from '../unstructured.ts';
import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf, wide } from './columns.ts';

const containers = (object: unknown): [string, string] => {
  const found = nestedMaps(object, 'spec', 'template', 'spec', 'containers');
  const joined = (field: string): string => found.map((container) => nestedString(container, field)).join(',');
  return [joined('name'), joined('image')];
};

/** `a=1,b=2`, sorted. */
const pairs = (map: Record<string, unknown>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${nestedString(map, key)}`)
    .join(',');

/** Validated already: a selector, or absent. */
const isSelector = (value: unknown): value is LabelSelector => isObject(value);

const selector = (object: unknown): string => {
  const found = nestedField(object, 'spec', 'selector');
  return isSelector(found) ? printLabelSelector(requirementsOf(found)) : '';
};

const wideColumns = [wide('Containers'), wide('Images'), wide('Selector')];

export const deployments: Columns = {
  definitions: [nameColumn, column('Ready'), column('Up-to-date'), column('Available'), ageColumn, ...wideColumns],
  cells: (object, now) => [
    nameOf(object),
    `${nestedNumber(object, 'status', 'readyReplicas')}/${nestedNumber(object, 'spec', 'replicas')}`,
    nestedNumber(object, 'status', 'updatedReplicas'),
    nestedNumber(object, 'status', 'availableReplicas'),
    ageOf(object, now),
    ...containers(object),
    selector(object),
  ],
};

export const replicaSets: Columns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    ageColumn,
    ...wideColumns,
  ],
  cells: (object, now) => [
    nameOf(object),
    nestedNumber(object, 'spec', 'replicas'),
    nestedNumber(object, 'status', 'replicas'),
    nestedNumber(object, 'status', 'readyReplicas'),
    ageOf(object, now),
    ...containers(object),
    orElse(selector(object), '<none>'),
  ],
};

export const daemonSets: Columns = {
  definitions: [
    nameColumn,
    column('Desired', 'integer'),
    column('Current', 'integer'),
    column('Ready', 'integer'),
    column('Up-to-date', 'integer'),
    column('Available', 'integer'),
    column('Node Selector'),
    ageColumn,
    ...wideColumns,
  ],
  cells: (object, now) => [
    nameOf(object),
    nestedNumber(object, 'status', 'desiredNumberScheduled'),
    nestedNumber(object, 'status', 'currentNumberScheduled'),
    nestedNumber(object, 'status', 'numberReady'),
    nestedNumber(object, 'status', 'updatedNumberScheduled'),
    nestedNumber(object, 'status', 'numberAvailable'),
    orElse(pairs(nestedMap(object, 'spec', 'template', 'spec', 'nodeSelector')), '<none>'),
    ageOf(object, now),
    ...containers(object),
    orElse(selector(object), '<none>'),
  ],
};
