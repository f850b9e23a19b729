import { followPath } from '../schema/field-path.ts';
import type { Schema } from '../schema/schema.ts';
import { type Cause, duplicate, invalid, required, tooMany } from '../status/cause.ts';
import type { Version } from './definition.ts';
import type { ScalePaths } from './scale.ts';

/** What is wrong with the parts of a version, but for its schema. */

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const simplePath = (path: string, field: string): Cause[] =>
  path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];

export const validateColumns = (columns: Version['additionalPrinterColumns'], path: string): Cause[] =>
  (columns ?? []).flatMap(({ name, type, format, jsonPath }, index) => {
    const field = `${path}[${index}]`;
    return [
      ...(name ? [] : [required(`${field}.name`)]),
      ...(!type
        ? [required(`${field}.type`, `must be one of ${columnTypes.join(',')}`)]
        : columnTypes.includes(type)
          ? []
          : [invalid(`${field}.type`, type, `must be one of ${columnTypes.join(',')}`)]),
      ...(format && !columnFormats.includes(format)
        ? [invalid(`${field}.format`, format, `must be one of ${columnFormats.join(',')}`)]
        : []),
      ...(jsonPath ? simplePath(jsonPath, `${field}.JSONPath`) : [required(`${field}.JSONPath`)]),
    ];
  });

const replicasPath = (path: string | undefined, under: string, field: string): Cause[] => {
  if (!path) return [required(field)];
  const causes = simplePath(path, field);
  if (causes.length > 0 || path.startsWith(`${under}.`)) return causes;
  return [invalid(field, path, `should be a json path under ${under}`)];
};

export const validateScale = (scale: ScalePaths | undefined, path: string): Cause[] => {
  if (!scale) return [];
  const selector = scale.labelSelectorPath;
  const field = `${path}.scale.labelSelectorPath`;
  const wrong = selector ? simplePath(selector, field) : [];
  return [
    ...replicasPath(scale.specReplicasPath, '.spec', `${path}.scale.specReplicasPath`),
    ...replicasPath(scale.statusReplicasPath, '.status', `${path}.scale.statusReplicasPath`),
    ...wrong,
    ...(selector && wrong.length === 0 && !/^\.(spec|status)\./.test(selector)
      ? [invalid(field, selector, 'should be a json path under either .spec or .status')]
      : []),
  ];
};

const selectableTypes = ['string', 'boolean', 'integer'];
const largestSelection = 8;

export const validateSelectable = (
  fields: Version['selectableFields'],
  schema: Schema | undefined,
  path: string,
): Cause[] => {
  if (!fields || fields.length === 0) return [];
  const seen = new Set<string>();
  const causes = fields.flatMap(({ jsonPath }, index): Cause[] => {
    const field = `${path}[${index}].jsonPath`;
    if (!jsonPath) return [required(field)];
    if (jsonPath.includes('[')) return [invalid(field, jsonPath, 'is an invalid path: array notation is not allowed')];
    const found = followPath(jsonPath, schema ?? {});
    if (!found) return [invalid(field, jsonPath, 'is an invalid path: does not refer to a valid field')];
    const again = seen.has(found.path);
    seen.add(found.path);
    return [
      ...(found.path.startsWith('metadata') ? [invalid(field, jsonPath, 'must not point to fields in metadata')] : []),
      ...(selectableTypes.includes(found.schema?.type ?? '')
        ? []
        : [
            invalid(
              field,
              jsonPath,
              'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
            ),
          ]),
      ...(again ? [duplicate(field, jsonPath)] : []),
    ];
  });
  return seen.size > largestSelection ? [...causes, tooMany(path, seen.size, largestSelection)] : causes;
};

export const validateDeprecation = ({ deprecated, deprecationWarning: text }: Version, field: string): Cause[] => {
  if (text === undefined) return [];
  if (!deprecated) return [invalid(field, text, 'can only be set for deprecated versions')];
  const control = Array.from(text).findIndex((character) => /[\p{C}\p{Zl}\p{Zp}]/u.test(character));
  return [
    ...(Buffer.byteLength(text) > 256 ? [invalid(field, text, 'must be <= 256 characters long')] : []),
    ...(text === '' ? [invalid(field, text, 'must not be an empty string')] : []),
    ...(control >= 0
      ? [
          invalid(
            field,
            text,
            `must only contain printable UTF-8 characters; non-printable character found at index ${control}`,
          ),
        ]
      : []),
  ];
};
