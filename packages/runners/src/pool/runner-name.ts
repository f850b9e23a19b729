const suffixBytes = 4;

/** GitHub takes 64 characters and pools have at most 47, so this is one for both. Nobody guesses it, and none comes twice. */
export const newRunnerName = (pool: string, randomBytes: (count: number) => Uint8Array): string =>
  `${pool}-runner-${Buffer.from(randomBytes(suffixBytes)).toString('hex')}`;

/** Not those of the pool `<pool>-runner-x`. */
export const isRunnerNameOf = (pool: string, name: string): boolean =>
  name.startsWith(`${pool}-runner-`) && /^[0-9a-f]{8}$/.test(name.slice(pool.length + '-runner-'.length));
