import type { GoStructs } from './go-file.ts';
import type { ProtoMessages } from './proto-file.ts';

/** `[name in JSON, type, flags]`; flags: r repeated, m map from strings, p pointer, o omitempty, i inlined into the parent. */
type FieldDescription = [name: string, type: string, flags: string];

/** Message → field number → field. */
export type Descriptions = Record<string, Record<string, FieldDescription>>;

/** Messages whose JSON does not follow from their fields: the decoder knows them by name. */
const special = new Set([
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON',
  'k8s.io.apimachinery.pkg.api.resource.Quantity',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Duration',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time',
  'k8s.io.apimachinery.pkg.runtime.RawExtension',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
]);

/** Messages that stand for a Go slice or union; without tags, they keep the names of the `.proto` file. */
const untagged: Readonly<Record<string, readonly string[]>> = {
  ExtraValue: ['items'],
  JSONSchemaPropsOrArray: ['schema', 'jSONSchemas'],
  JSONSchemaPropsOrBool: ['allows', 'schema'],
  JSONSchemaPropsOrStringArray: ['schema', 'property'],
};

const shortName = (message: string): string => message.slice(message.lastIndexOf('.') + 1);
const packageOf = (message: string): string => message.slice(0, message.lastIndexOf('.'));

const describeField = (
  message: string,
  field: { number: number; type: string; repeated: boolean; map: boolean },
  structs: GoStructs | undefined,
): FieldDescription => {
  const container = field.repeated ? 'r' : field.map ? 'm' : '';
  const fixed = untagged[shortName(message)]?.[field.number - 1];
  if (fixed !== undefined) return [fixed, field.type, `${container}p`];
  const known = structs?.get(shortName(message))?.get(field.number);
  if (!known) throw new Error(`no Go struct has a field with number ${field.number} of ${message}`);
  const flags = [known.pointer ? 'p' : '', known.omitempty ? 'o' : '', known.inline ? 'i' : ''].join('');
  return [known.name, field.type, container + flags];
};

/** Describes `roots` and every message they reach. `structs` are those of the Go package of the same name. */
export const describeMessages = (
  roots: readonly string[],
  messages: ProtoMessages,
  structs: ReadonlyMap<string, GoStructs>,
): Descriptions => {
  const descriptions: Descriptions = {};
  const pending = [...roots];
  for (let message = pending.pop(); message !== undefined; message = pending.pop()) {
    if (message in descriptions || special.has(message)) continue;
    const fields = messages.get(message);
    if (!fields) throw new Error(`no .proto file declares ${message}`);
    const described: Record<string, FieldDescription> = {};
    for (const field of fields) {
      described[field.number] = describeField(message, field, structs.get(packageOf(message)));
      if (field.type.includes('.')) pending.push(field.type);
    }
    descriptions[message] = described;
  }
  return Object.fromEntries(Object.entries(descriptions).sort(([a], [b]) => (a < b ? -1 : 1)));
};
