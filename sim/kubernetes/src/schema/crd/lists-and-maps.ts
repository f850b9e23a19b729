import { type Cause, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { goValue } from '../../go/fmt.ts';
import { childPath } from '../field-path.ts';
import { propertySchema, type Schema } from '../schema.ts';

/** Validates how a definition declares lists and maps to be merged. */

const invalidValue = (field: string, shown: string, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown}: ${detail}`,
  field,
});

const validateMapType = (schema: Schema, path: string): Cause[] => {
  const mapType: string | undefined = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const text = 'must be object if x-kubernetes-map-type is specified';
  const field = childPath(path, 'type');
  return [
    ...(schema.type === undefined
      ? [required(field, text)]
      : schema.type === 'object'
        ? []
        : [invalid(field, schema.type, text)]),
    ...(['atomic', 'granular'].includes(mapType)
      ? []
      : [notSupported(childPath(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular'])]),
  ];
};

const validateSetItems = (items: Schema, path: string): Cause[] => {
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  const shown = goValue(listType);
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-list-type`, shown, text)];
  }
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
    return [invalidValue(`${path}.items.x-kubernetes-map-type`, shown, text)];
  }
  return [];
};

const validateListType = (schema: Schema, path: string): Cause[] => {
  const listType: string | undefined = schema['x-kubernetes-list-type'];
  if (listType === undefined) return [];
  const field = childPath(path, 'type');
  const text = 'must be array if x-kubernetes-list-type is specified';
  const causes: Cause[] = [];
  if (schema.type === undefined) causes.push(required(field, text));
  else if (schema.type !== 'array') causes.push(invalid(field, schema.type, text));
  else if (listType === 'set' && schema.items) causes.push(...validateSetItems(schema.items, path));
  if (!['atomic', 'set', 'map'].includes(listType)) {
    causes.push(notSupported(childPath(path, 'x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
  }
  return causes;
};

const validateMapKeys = (schema: Schema, items: Schema, path: string): Cause[] => {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const field = childPath(path, 'x-kubernetes-list-map-keys');
  return keys.flatMap((key, index) => {
    const named = propertySchema(items, key);
    return [
      ...(named?.type === 'array' || named?.type === 'object'
        ? [
            invalid(
              `${path}.items.properties[${key}].type`,
              items.type ?? '',
              "must be a scalar type if parent array's x-kubernetes-list-type is map",
            ),
          ]
        : []),
      ...(named ? [] : [invalidValue(field, goValue(keys), 'entries must all be names of item properties')]),
      ...(keys.indexOf(key) < index ? [invalidValue(field, goValue(keys), 'must not contain duplicate entries')] : []),
    ];
  });
};

const validateMapList = (schema: Schema, path: string): Cause[] => {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listType = schema['x-kubernetes-list-type'];
  const causes: Cause[] = [];
  if (keys.length > 0 && listType !== 'map') {
    const field = childPath(path, 'x-kubernetes-list-type');
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    causes.push(listType === undefined ? required(field, text) : invalid(field, listType, text));
  }
  if (listType !== 'map') return causes;
  const { items } = schema;
  if (keys.length === 0) {
    causes.push(
      required(childPath(path, 'x-kubernetes-list-map-keys'), 'must not be empty if x-kubernetes-list-type is map'),
    );
  }
  if (!items) causes.push(required(childPath(path, 'items'), 'must have a schema if x-kubernetes-list-type is map'));
  else if (items.type !== 'object') {
    const text = "must be object if parent array's x-kubernetes-list-type is map";
    causes.push(invalid(childPath(path, 'items.type'), items.type ?? '', text));
  } else causes.push(...validateMapKeys(schema, items, path));
  return causes;
};

/** Keys must be required or have a default; otherwise two items without a key would be the same. */
const validateKeyPresence = (schema: Schema, path: string): Cause[] => {
  const { items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const nullable = items.nullable
    ? [forbidden(childPath(path, 'items.nullable'), `cannot be nullable when x-kubernetes-list-type is ${listType}`)]
    : [];
  if (listType === 'set') return nullable;
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).flatMap((key) => {
    const named = propertySchema(items, key);
    if (!named) return [];
    const at = `${path}.items.properties[${key}]`;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    return [
      ...(items.required?.includes(key) || named.default !== undefined
        ? []
        : [required(`${at}.default`, `${why} must have a default or be a required property`)]),
      ...(named.nullable ? [forbidden(`${at}.nullable`, `${why} cannot be nullable`)] : []),
    ];
  });
  return [...nullable, ...keys];
};

export const listAndMapCauses = (schema: Schema, path: string): Cause[] => [
  ...validateMapType(schema, path),
  ...validateListType(schema, path),
  ...validateMapList(schema, path),
  ...validateKeyPresence(schema, path),
];
