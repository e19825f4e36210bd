"""How fast a plan will be, and why: the time of a step, a run of the scheduler, ranges, and what one point corrects."""

from moonpad.predict.calibrate import StepCalibration, calibrate
from moonpad.predict.measured_point import MeasuredPoint
from moonpad.predict.pools import PoolOf, predict_pools
from moonpad.predict.prediction import constants_for, predict
from moonpad.predict.serving_plan import ServingPlan, serving_plan
from moonpad.values.prediction import Prediction, PredictionStanding, StepBreakdown
from moonpad.values.workload import Lengths, Workload

__all__ = [
    "Lengths",
    "MeasuredPoint",
    "PoolOf",
    "Prediction",
    "PredictionStanding",
    "ServingPlan",
    "StepBreakdown",
    "StepCalibration",
    "Workload",
    "calibrate",
    "constants_for",
    "predict",
    "predict_pools",
    "serving_plan",
]
