import fc from 'fast-check';
import type { StructuralSchema } from '../crds/index.ts';

/** Values that a schema allows; rules between fields are not looked at. */

const longestText = 20;
const largestInteger = 2 ** 31 - 1;

const text = ({ enum: words, format, pattern, minLength = 0, maxLength = longestText }: StructuralSchema) => {
  if (words !== undefined) return fc.constantFrom(...words);
  if (format === 'date-time') {
    const years = { min: new Date('1970-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true };
    return fc.date(years).map((date) => date.toISOString());
  }
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength);
  const size = { minLength, maxLength: Math.min(maxLength, longestText) };
  return fc.oneof(fc.string(size), fc.string({ ...size, maxLength: Math.max(minLength, 3), unit: 'grapheme' }));
};

const list = (schema: StructuralSchema, items: StructuralSchema): fc.Arbitrary<unknown> => {
  const size = { maxLength: Math.min(schema.maxItems ?? 3, 3) };
  const item = arbitraryValue(items);
  const keys = schema['x-kubernetes-list-map-keys'];
  if (keys !== undefined) {
    const keyOf = (value: unknown): string =>
      JSON.stringify(Object.entries(Object(value)).filter(([key]) => keys.includes(key)));
    return fc.uniqueArray(item, { ...size, selector: keyOf });
  }
  return schema['x-kubernetes-list-type'] === 'set' ? fc.uniqueArray(item, size) : fc.array(item, size);
};

export const arbitraryValue = (schema: StructuralSchema): fc.Arbitrary<unknown> => {
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -largestInteger, max: schema.maximum ?? largestInteger });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return schema.items === undefined ? fc.constant([]) : list(schema, schema.items);
    case 'object': {
      if (schema.additionalProperties !== undefined) {
        return fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), arbitraryValue(schema.additionalProperties), {
          maxKeys: 3,
        });
      }
      const fields = Object.entries(schema.properties ?? {}).map(
        ([name, field]) => [name, arbitraryValue(field)] as const,
      );
      return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [] });
    }
  }
};
