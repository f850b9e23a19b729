/** Command-line flags and environment variables of programs. */
export * from './flag.ts';
export { helpText } from './help-text.ts';
export * from './manager-flags.ts';
export * from './nearest-name.ts';
export { type Environment, parseFlagTable } from './parse-flags.ts';
export * from './value-types.ts';
export * from './network-types.ts';
