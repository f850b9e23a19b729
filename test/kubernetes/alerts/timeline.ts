import { seriesOf } from './exposition.ts';
import type { Harness } from './harness.ts';
import { rules } from './rules.ts';

/** The input of promtool: a series, and its values minute by minute. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

const mentioned = new Set(rules.flatMap(({ expr }) => expr.match(/\w+/g) ?? []));

/** Scrapes a harness every minute, after a callback with the minute. A series that disappears becomes stale, as in Prometheus. */
export const record = async (
  harness: Harness,
  minutes: number,
  happens: (minute: number) => void,
): Promise<InputSeries[]> => {
  const values = new Map<string, string[]>();
  for (let minute = 0; minute <= minutes; minute += 1) {
    happens(minute);
    for (const sample of await harness.scrape(mentioned)) {
      const series = seriesOf(sample);
      const samples = values.get(series) ?? Array.from({ length: minute }, () => '_');
      values.set(series, [...samples, String(sample.value)]);
    }
    for (const samples of values.values())
      if (samples.length === minute) samples.push(samples.at(-1) === 'stale' || samples.at(-1) === '_' ? '_' : 'stale');
    harness.clock.advance(60_000);
  }
  return [...values].map(([series, samples]) => ({ series, values: samples.join(' ') }));
};
