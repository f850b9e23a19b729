import { kinds } from '../kinds/index.ts';
import { type CustomResourceDefinition, definitionOf } from './definition.ts';

/** The CustomResourceDefinitions of our kinds: for charts, `tartan up`, tests and docs. */

export {
  type AnyKind,
  type CustomResourceDefinition,
  definitionOf,
  schemaOf,
  type StructuralSchema,
} from './definition.ts';

export const definitions: readonly CustomResourceDefinition[] = kinds.map((kind) => definitionOf(kind));
