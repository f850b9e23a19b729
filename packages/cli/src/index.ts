/** For the generated reference of the command line. */
export { jsonSchemas } from './json-schemas.ts';
export { commands } from './program.ts';
