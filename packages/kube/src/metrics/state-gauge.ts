import { Gauge, type Registry } from 'prom-client';

/** Makes a gauge that is filled anew at every scrape: what is gone has no series any more. */
export type StateGauge<State> = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  fill: (gauge: Gauge<Label>) => (state: State) => void,
) => void;

/** `state` answers undefined when there is nothing to tell. */
export const stateGauges =
  <State>(registry: Registry, state: () => State | undefined): StateGauge<State> =>
  (name, help, labelNames, fill) => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset();
          const told = state();
          if (told !== undefined) fill(this)(told);
        },
      }),
    );
  };
