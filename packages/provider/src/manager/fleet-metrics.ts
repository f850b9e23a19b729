import { type MacFleet, type MacHost, metricNames } from '@tartan/api';
import { isTrue, type Live, type StateGauge } from '@tartan/kube';

interface Fleets {
  readonly fleets: readonly Live<MacFleet>[];
  readonly hosts: readonly Live<MacHost>[];
}

export const measureFleets = (gauge: StateGauge<Fleets>): void => {
  gauge(
    metricNames.fleetMachines,
    'Machines of a fleet: count is desired, existing, ready or updated.',
    ['namespace', 'fleet', 'count'],
    (counts) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets)
          for (const count of ['desired', 'existing', 'ready', 'updated'] as const)
            counts.set({ ...placeOf(metadata), count }, status?.[count] ?? 0);
      },
  );
  gauge(
    metricNames.fleetTurns,
    'Macs of a fleet that may be rolled now.',
    ['namespace', 'fleet'],
    (turns) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets) turns.set(placeOf(metadata), status?.turns?.length ?? 0);
      },
  );
  gauge(
    metricNames.fleetStalled,
    '1 while the roll of a fleet has stopped because of a failure.',
    ['namespace', 'fleet'],
    (stalled) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets)
          stalled.set(placeOf(metadata), isTrue(status?.conditions, 'Stalled') ? 1 : 0);
      },
  );
  gauge(
    metricNames.macHosts,
    'Macs at Scaleway by zone, type and state: pool, held, releasing, quarantined, stranded or abandoned.',
    ['zone', 'type', 'state'],
    (macs) =>
      ({ hosts }) => {
        for (const { spec, status } of hosts)
          macs.inc({ zone: spec.zone, type: status?.type ?? '', state: status?.state ?? '' });
      },
  );
};

const placeOf = ({ namespace = '', name }: Live<MacFleet>['metadata']) => ({ namespace, fleet: name });
