import { gone, type KubectlScript } from '../script.ts';

export const watching: KubectlScript = {
  title: 'watching',
  namespace: 'watching',
  steps: [
    'create configmap first --from-literal=a=1',
    {
      run: 'get cm -l !nothing --watch --output-watch-events',
      during: {
        before: 3,
        watched: 7,
        steps: [
          'create configmap second --from-literal=a=1',
          `patch cm second --type=merge -p '{"data": {"b": "2"}}'`,
          'label cm first seen=yes',
          'delete cm second',
        ],
      },
    },
    {
      run: 'get cm first --watch -o jsonpath=\'{.metadata.labels.step}{"\\n"}\'',
      during: { before: 1, watched: 3, steps: ['label cm first step=1', 'label cm first step=2 --overwrite'] },
    },
    'label cm first colour=red',
    {
      run: 'get cm -l colour=red --watch --output-watch-events',
      during: { before: 2, watched: 4, steps: ['label cm first more=yes', 'label cm first colour=blue --overwrite'] },
    },
    {
      run: 'get cm --watch -o name',
      during: { before: 2, watched: 4, steps: ['create configmap third', 'delete cm third'] },
    },
    { ...gone('cm/first'), during: { before: 0, steps: ['delete cm first'] } },
    {
      run: 'wait --for=create cm/later --timeout=300s',
      during: { before: 0, steps: ['create configmap later'] },
    },
    {
      run: "wait --for=jsonpath='{.data.a}'=2 cm/later --timeout=300s",
      during: { before: 0, steps: [`patch cm later --type=merge -p '{"data": {"a": "2"}}'`] },
    },
    'get cm nothing --watch',
  ],
};
