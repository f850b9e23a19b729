/**
 * The version of an agent that is built to get its version later: whoever has the text puts another in its place. So one build serves
 * every version that simulated Macs are rolled to.
 */
export const placeholderVersion = '0.0.0-any-version';
