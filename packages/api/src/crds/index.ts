/** What the API server has to know of our kinds: for charts, `tartan up`, tests and docs. */
import { kinds } from '../kinds/index.ts';
import { type CustomResourceDefinition, definitionOf } from './definition.ts';

export { type AnyKind, type CustomResourceDefinition, definitionOf, schemaOf } from './definition.ts';
export { type StructuralSchema } from './structural-schema.ts';

export const definitions: readonly CustomResourceDefinition[] = kinds.map((kind) => definitionOf(kind));
