/**
 * Resource versions of one kind are decimal numbers that only grow. They outgrow a double, so they are compared as text: of two
 * numbers without leading zeros the longer one is greater. A server that hands out anything else gets the careful answer: versions
 * that differ are news.
 */
const decimal = /^(0|[1-9][0-9]*)$/;

export const isOlder = (version: string, than: string): boolean =>
  decimal.test(version) &&
  decimal.test(than) &&
  (version.length === than.length ? version < than : version.length < than.length);

export const isNewer = (version: string, than: string): boolean => version !== than && !isOlder(version, than);
