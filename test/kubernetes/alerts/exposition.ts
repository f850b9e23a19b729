/** One line of an exporter. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const unescape = (text: string): string => text.replaceAll(/\\(.)/g, (_, char: string) => (char === 'n' ? '\n' : char));

/** Samples of the wanted metrics in Prometheus' text format, as far as Tartan's exporters use it: no timestamps. */
export const samplesIn = (text: string, wanted: ReadonlySet<string>): Sample[] =>
  text
    .split('\n')
    .filter((line) => wanted.has(/^\w*/.exec(line)?.[0] ?? ''))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name === '') throw new Error(`this is no sample: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
        key,
        unescape(text),
      ]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });

/** The notation of promtool: `name{a="b"}`. Labels with an empty value are omitted. */
export const seriesOf = ({ name, labels }: Omit<Sample, 'value'>): string => {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(',')}}`;
};
