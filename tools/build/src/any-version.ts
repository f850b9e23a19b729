/**
 * A placeholder that is replaced by the real version after the build. So one build of the agent serves every version that is rolled out to
 * simulated Macs.
 */
export const placeholderVersion = '0.0.0-any-version';
