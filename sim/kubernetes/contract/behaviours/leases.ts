import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';

const lease = (name: string, spec: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec,
});

const leasesOf = 'coordination.k8s.io/v1';

export const leases = topic('leases', [
  behaviour('times have six fractional digits in requests and responses', async (context) => {
    const path = await context.collection('leases', leasesOf);
    const spec = {
      holderIdentity: 'me',
      leaseDurationSeconds: 40,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.123456Z',
    };
    includes(await context.create(path, lease('a', spec)), { spec });
    includes(await context.edit(`${path}/a`, { spec: { renewTime: '2026-01-01T00:00:10.654321Z' } }), {
      spec: { ...spec, renewTime: '2026-01-01T00:00:10.654321Z' },
    });
  }),

  behaviour('another time zone is accepted, and returned as UTC', async (context) => {
    const path = await context.collection('leases', leasesOf);
    includes(await context.create(path, lease('a', { renewTime: '2026-01-01T02:00:00.500000+02:00' })), {
      spec: { renewTime: '2026-01-01T00:00:00.500000Z' },
    });
  }),

  behaviour('a time without a fraction is a bad request', async (context) => {
    refused(
      await context.post(
        await context.collection('leases', leasesOf),
        lease('a', { renewTime: '2026-01-01T00:00:00Z' }),
      ),
      {
        code: 400,
        reason: 'BadRequest',
        message:
          'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
      },
    );
  }),

  behaviour('a duration must be positive', async (context) => {
    refused(await context.post(await context.collection('leases', leasesOf), lease('a', { leaseDurationSeconds: 0 })), {
      code: 422,
      reason: 'Invalid',
      message:
        'Lease.coordination.k8s.io "a" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    });
  }),
]);
