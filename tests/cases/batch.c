/* rnea of HyQ at angles of six sizes, by single calls and by a batch: a torque of both on each line. */
#include <stdio.h>

#include "hyq_small.h"

enum { N = 16 };
static double q[N * HYQ_SMALL_NQ], v[N * HYQ_SMALL_NV], a[N * HYQ_SMALL_NV], tau[N * HYQ_SMALL_NV], one[HYQ_SMALL_NV];

int main(void)
{
    static const double angles[6] = {0.3, 0.785398163397448, 1.5707963267948966, 3.0, 10.0, 500.0};
    for (int k = 0; k < 6; ++k) {
        for (int n = 0; n < N; ++n) {
            for (int i = 0; i < HYQ_SMALL_NQ; ++i) {
                q[n * HYQ_SMALL_NQ + i] = i < 6 ? 0.0 : i == 6 ? 1.0 : angles[k] * (1 + 0.1 * (n % 4));
            }
            for (int i = 0; i < HYQ_SMALL_NV; ++i) {
                v[n * HYQ_SMALL_NV + i] = 0.5;
                a[n * HYQ_SMALL_NV + i] = -0.3;
            }
        }
        hyq_small_rnea_batch(N, q, v, a, NULL, tau);
        for (int n = 0; n < N; ++n) {
            hyq_small_rnea(q + n * HYQ_SMALL_NQ, v + n * HYQ_SMALL_NV, a + n * HYQ_SMALL_NV, NULL, one);
            for (int i = 0; i < HYQ_SMALL_NV; ++i) {
                printf("%.17g %.17g\n", one[i], tau[n * HYQ_SMALL_NV + i]);
            }
        }
    }
    return 0;
}
